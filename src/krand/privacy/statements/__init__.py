"""The statements of the drafts, put to the test by enumeration in rational arithmetic."""
