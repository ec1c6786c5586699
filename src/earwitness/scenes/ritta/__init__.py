"""Scenes for RiTTA (arXiv 2412.15922): prompts that state relations of sounds, and clips that meet them."""
