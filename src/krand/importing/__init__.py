"""XLSForm questionnaires become survey files."""
