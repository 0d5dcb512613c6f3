/** Files that scripts/dashboard.js bundles. */
declare module '*.css'
declare module '*.svg' {
  /** The path of the file, relative to the script. */
  const path: string
  // biome-ignore lint/style/noDefaultExport: that is how esbuild exports it
  export default path
}
