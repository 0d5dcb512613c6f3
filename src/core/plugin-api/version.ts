/** The version of the plugin API. It increases when a plugin for the new version cannot run on the former one. */
export const PLUGIN_API = 1
