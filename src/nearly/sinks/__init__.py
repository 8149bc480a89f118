"""Results → files, written whole or not at all.

    Outputs               the files of one command, which appear together
    write_table           one table to one file
    check_output          refuses an output that is bound to fail, before the long work starts
    check_different       refuses two outputs of one name
    check_not_read        refuses an output that would replace what is read
    check_place           the same for a file that is no table
    check_place_of_frame  the same for a table that may also become a folder of Parquet parts

`clean_copy` writes the rows that stay as they stand in their files, for those who need it.
The ending of a file's name says its format, and every format has the same columns.
"""

from nearly.sinks.output import Outputs, check_output, check_place_of_frame, write_table
from nearly.sinks.part_folder import has_scheme
from nearly.sinks.place import check_different, check_not_read, check_place

__all__ = [
    "Outputs",
    "check_different",
    "check_not_read",
    "check_output",
    "check_place",
    "check_place_of_frame",
    "has_scheme",
    "write_table",
]
