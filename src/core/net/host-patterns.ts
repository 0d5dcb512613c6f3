/**
 * Whether a list of hosts includes this one: `example.com` matches itself only, `*.example.com` all its subdomains.
 *
 * @param hostname in the form of `URL.hostname`
 * @throws Error for an entry that is not a host, so that a list with a typing error allows nothing
 */
export function namesHost(list: readonly string[], hostname: string): boolean {
  const host = withoutLastDot(hostname)
  return list.some((entry) => {
    const below = entry.startsWith('*.')
    const name = normalized(below ? entry.slice(2) : entry)
    return below ? host.endsWith(`.${name}`) : host === name
  })
}

/** Normalizes an entry as `URL` does: lower case, punycode, without a dot at its end. */
function normalized(entry: string): string {
  const url = `http://${entry}/`
  if (/[\s/?#@*]|:\d*$/.test(entry) || !URL.canParse(url))
    throw new Error(`not a host: ${JSON.stringify(entry)}`)
  return withoutLastDot(new URL(url).hostname)
}

function withoutLastDot(host: string): string {
  return host.replace(/\.$/, '')
}
