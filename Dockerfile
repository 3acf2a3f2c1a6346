# docker build -t subspaces .
# docker run --rm subspaces                                      the demo
# docker run --rm -v "$PWD:/data" subspaces fit rows.csv         a fit of a file of yours; results appear beside it
FROM python:3.13-slim

COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir "/source[plot,io,data]" && rm -r /source

WORKDIR /data
ENTRYPOINT ["subspaces"]
CMD ["demo"]
