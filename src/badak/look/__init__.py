"""look: one run under the microscope, as a record and as one HTML file.

page/   the record as a page
"""
