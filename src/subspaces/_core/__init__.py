"""The ground floor: no other room is imported here, and every room builds on it.

===================  ================================================================================
`arrays`             array types and libraries, safe division, unit rows, device arrays
`blocks`             slices of rows that bound memory
`smallest`           the smallest entries of each row of a table
`threads`            BLAS threads and Python threads
`pca`                principal directions from blocks of rows
`validation`         checks of parameters and rows
`errors`             errors that the caller can fix
`progress`           structured events
`terminal`           progress bars
`drawing`            the style of all figures
`files`              files that are complete or absent
`words`              numbers in words, for messages
===================  ================================================================================
"""
