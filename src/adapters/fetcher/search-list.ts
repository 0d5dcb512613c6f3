/** The names to look up for one name, in order, by `search` and `ndots` of a text in the format of `/etc/resolv.conf`. */
export function namesToAsk(resolvConf: string, hostname: string): string[] {
  if (hostname.endsWith('.')) return [hostname.slice(0, -1)]
  const lines = resolvConf.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )
  const domains =
    lines
      .filter(([word]) => word === 'search' || word === 'domain')
      .at(-1)
      ?.slice(1) ?? []
  const options = lines.filter(([word]) => word === 'options').flat()
  const ndots = Number(options.findLast((option) => option.startsWith('ndots:'))?.slice(6) ?? 1)
  const searched = domains.map((domain) => `${hostname}.${domain.replace(/\.$/, '')}`)
  const dots = hostname.split('.').length - 1
  // As glibc: a name with at least `ndots` dots is tried unchanged first.
  return dots >= ndots ? [hostname, ...searched] : [...searched, hostname]
}
