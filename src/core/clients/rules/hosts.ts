import { z } from 'zod'
import { boundedItems } from '../../bounded-schemas.ts'
import { namesHost } from '../../net/host-patterns.ts'
import { badParameter } from '../../problem.ts'
import type { Rule } from './rule.ts'

type Hosts = readonly string[]

// Each host is compared at every hop of a fetch.
const HOSTS_MAX = 100

export const fetchHostsRule: Rule<Hosts | 'any', Hosts | 'any'> = {
  flags: '--fetch-hosts <host,*.host,…|any|none|default>',
  help: 'hosts to fetch files from; default: none for public URLs, any with a secret',
  docs: {
    example: 'example.com',
    json: '(an array or `"any"`)',
    effect: 'Servers that [files may be fetched from](../how-to/remote-files.md#allow-hosts)',
  },
  stored: z.array(z.string()).or(z.literal('any')),
  change: () => z.literal('any').or(boundedItems(z.string())),
  expected: '"any", an array of hosts or null',
  apply: (hosts, { param }) => (hosts === 'any' ? hosts : checkedHosts(param, hosts)),
  parse(text) {
    if (text === 'default') return false
    if (text === 'any') return text
    return text === 'none' ? [] : text.split(',')
  },
  shown: (hosts) => `fetches from ${hosts === 'any' ? 'any host' : hosts.join(', ') || 'no host'}`,
}

export const fetchDenyHostsRule: Rule<Hosts, Hosts> = {
  flags: '--fetch-deny-hosts <host,*.host,…|none>',
  help: 'hosts that are never fetched from, even when allowed',
  docs: { example: 'a.example', effect: 'Servers that are never fetched from' },
  stored: z.array(z.string()).min(1),
  change: () => boundedItems(z.string()),
  expected: 'an array of hosts or null',
  apply: (hosts, { param }) => (hosts.length > 0 ? checkedHosts(param, hosts) : undefined),
  parse: (text) => (text === 'none' ? false : text.split(',')),
  shown: (hosts) => `never fetches from ${hosts.join(', ')}`,
}

/** @throws Problem 400 */
function checkedHosts(param: string, received: Hosts): Hosts {
  if (received.length <= HOSTS_MAX && received.every(isHost)) return received
  const expected = `at most ${HOSTS_MAX} hosts like example.com or *.example.com`
  throw badParameter({ param, expected, received })
}

function isHost(text: string): boolean {
  try {
    namesHost([text], '')
    return true
  } catch {
    return false
  }
}
