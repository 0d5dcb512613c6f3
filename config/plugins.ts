import { listOf, text } from './variable.ts'

/** Plugins in addition to those of Sluice. */
export const PLUGIN_VARIABLES = {
  PLUGINS_DIR: text({
    pattern: /^[^\0]+$/,
    expected: 'a path',
    help: 'Additional folder of plugins (.js).',
  }),
  PLUGINS: listOf({
    item: isPackageName,
    expected: 'names of npm packages, separated by spaces or commas',
    help: 'npm packages that are plugins, installed in node_modules of the working directory or a folder above it.',
  }),
}

/** Whether the text is a name of npm's registry: `sluice-plugin-duotone`, `@acme/x`. Never a path. */
function isPackageName(name: string): boolean {
  return name.length <= 214 && /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name)
}
