"""Scenes for RiTTA (arXiv 2412.15922): prompts that state relations between sounds, and clips that meet them."""
