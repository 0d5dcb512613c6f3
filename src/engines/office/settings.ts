const SECURITY = '/org.openoffice.Office.Common/Security/Scripting'
const NETWORK = '/org.openoffice.Inet/Settings'
// Nothing listens at this port: the discard service of old.
const NOWHERE = { name: '127.0.0.1', port: 9 }

/**
 * Without these, LibreOffice loads images of other servers, and files of this machine, into the PDF of a document that names
 * them: a document of a stranger could read the files of the service, and send requests into its network.
 */
const VALUES: ReadonlyArray<readonly [path: string, name: string, value: string | number | boolean]> = [
  [SECURITY, 'BlockUntrustedRefererLinks', true],
  [SECURITY, 'DisableMacrosExecution', true],
  // Very high: only macros of trusted folders, of which there are none.
  [SECURITY, 'MacroSecurityLevel', 3],
  // Never.
  ['/org.openoffice.Office.Writer/Content/Update', 'Link', 2],
  ['/org.openoffice.Office.Calc/Content/Update', 'Link', 2],
  // A proxy that is set by hand.
  [NETWORK, 'ooInetProxyType', 2],
  [NETWORK, 'ooInetHTTPProxyName', NOWHERE.name],
  [NETWORK, 'ooInetHTTPProxyPort', NOWHERE.port],
  [NETWORK, 'ooInetHTTPSProxyName', NOWHERE.name],
  [NETWORK, 'ooInetHTTPSProxyPort', NOWHERE.port],
  [NETWORK, 'ooInetFTPProxyName', NOWHERE.name],
  [NETWORK, 'ooInetFTPProxyPort', NOWHERE.port],
]

/** The settings of LibreOffice, as its profile has them. */
export const SETTINGS = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
${VALUES.map(
  ([path, name, value]) =>
    `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
).join('\n')}
</oor:items>
`
