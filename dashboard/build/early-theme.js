// Marks the document with the stored theme before the first paint: the scripts of the console are loaded after it. ui/theme.ts has the
// same key. A browser without storage throws.
try {
  const theme = localStorage.getItem('sluice-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {}
