# docker build -t subspaces .
# The demo, whose picture appears in the current folder, and a fit of a file in it:
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" subspaces
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" subspaces fit rows.csv
FROM python:3.13-slim

COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir "/source[plot,io,data]" && rm -r /source

# With --user there is no home folder; matplotlib needs one for its cache.
ENV MPLCONFIGDIR=/tmp/matplotlib

WORKDIR /data
ENTRYPOINT ["subspaces"]
CMD ["demo"]
