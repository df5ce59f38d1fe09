"""What people see: the command line, tables, figures and pages. Imported by nobody."""
