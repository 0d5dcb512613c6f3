/**
 * Whether a list of hosts names this one: `example.com` itself, `*.example.com` all below it.
 *
 * @param hostname as a `URL` has it
 * @throws Error for an entry that is no host, so that a list with a typing error lets nothing pass
 */
export function namesHost(list: readonly string[], hostname: string): boolean {
  const host = withoutLastDot(hostname)
  return list.some((entry) => {
    const below = entry.startsWith('*.')
    const name = normalized(below ? entry.slice(2) : entry)
    return below ? host.endsWith(`.${name}`) : host === name
  })
}

/** As a `URL` writes it: lower case, punycode, no dot at its end. */
function normalized(entry: string): string {
  const url = `http://${entry}/`
  if (/[\s/?#@*]|:\d*$/.test(entry) || !URL.canParse(url))
    throw new Error(`not a host: ${JSON.stringify(entry)}`)
  return withoutLastDot(new URL(url).hostname)
}

function withoutLastDot(host: string): string {
  return host.replace(/\.$/, '')
}
