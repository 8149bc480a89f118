"""Everything that turns what a user points at into Arrow batches of documents.

    open_source        decides what was given, and opens it
    read_table         one table with all its columns, whatever they mean
    Source             documents() for the pipeline, kept() for the clean copy
    Block              some rows of a source, to be read by another process or machine
    Skipped            what could not become a document, and why
    holds_tables       whether a folder is a table in parts

A source is made of parts (a file, a frame, a list), one kind of part a file here.
"""

from nearly.sources.blocks.block import Block
from nearly.sources.file_name import id_of_name, name_of_id
from nearly.sources.folder import holds_tables
from nearly.sources.opener import open_source, read_table
from nearly.sources.skipped import Skipped
from nearly.sources.source import Source

__all__ = [
    "Block",
    "Skipped",
    "Source",
    "holds_tables",
    "id_of_name",
    "name_of_id",
    "open_source",
    "read_table",
]
