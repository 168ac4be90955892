"""The curator's console: pages that show everything and change nothing."""
