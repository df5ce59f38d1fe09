"""Other languages than English: catalogs of texts, and plurals, numbers and dates by CLDR."""
