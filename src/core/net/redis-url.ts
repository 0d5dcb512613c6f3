import { percentDecoded } from '../text/percent-decoded.ts'

/** The address of a Redis, as `REDIS_URL` states it. */
export interface RedisUrl {
  /** The Redis itself, the Sentinels that know its address, or some nodes of a Redis Cluster: at least one. */
  nodes: readonly RedisNode[]
  /** The name by which the Sentinels know the Redis. Absent: `nodes` are no Sentinels. */
  masterName?: string
  /** Set for a Redis Cluster. Absent and without `masterName`: `nodes` is the Redis, one. */
  isCluster?: true
  isTls: boolean
  username?: string
  password?: string
  /** The password of the Sentinels, if they have one. */
  sentinelPassword?: string
  /** 0 for a Redis Cluster, which has no others. */
  database: number
  /** After this time, a command without a response fails. Default: 1500. */
  responseMs?: number
  /** Without user name and passwords, for people: `redis.example.com:6380`, or `mymaster (Sentinels a:26379, b:26379)`. */
  shown: string
}

/** A server of {@link RedisUrl}. */
export interface RedisNode {
  /** An IPv6 address is without brackets. */
  host: string
  port: number
}

/** The forms of {@link parseRedisUrl}, for messages. */
export const REDIS_URL_FORMS =
  'redis://[user:password@]host[:port][/database], redis+cluster://[user:password@]host[:port][,host[:port]…], or redis+sentinel://[user:password@]host[:port][,host[:port]…]/name[/database]; rediss for TLS; ?timeout=<seconds> from 1 to 15'

const PORT = 6379
const SENTINEL_PORT = 26_379
const NODES_MAX = 20
const URL_PARTS =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<login>[^/?#]*)@)?(?<hosts>[^@/?#]+)(?<path>(?:\/[^/?#]*)*)(?:\?(?<query>[^#]*))?$/i
const HOST = /^(?:\[(?<six>[\da-f:.]+)\]|(?<name>[^:[\]\s<>|^\\\p{Cc}]+))(?::(?<port>\d{0,5}))?$/iu

/**
 * Parses `redis://[user:password@]host[:port][/database]`, `redis+cluster://[user:password@]host[:port][,…]` and
 * `redis+sentinel://[user:password@]host[:port][,…]/<name>[/database][?sentinel_password=…]`, with `rediss` for TLS. User name and
 * passwords are percent-encoded. All of them may have the parameter `timeout`: seconds from 1 to 15.
 *
 * @returns undefined for any other text. Other parameters are refused: they would be ignored
 */
export function parseRedisUrl(url: string): RedisUrl | undefined {
  // As `URL` does: a secret that is read from a file often ends with a line break.
  const parts = URL_PARTS.exec(url.trim().replace(/[\t\n\r]/g, ''))?.groups
  if (!parts) return undefined
  const kind = parts.kind?.toLowerCase()
  const isSentinel = kind === 'sentinel'
  const isCluster = kind === 'cluster'
  const nodes = (parts.hosts ?? '').split(',').map((host) => nodeOf(host, isSentinel ? SENTINEL_PORT : PORT))
  const [masterName, database = '', ...others] = [
    ...(isSentinel ? [] : ['']),
    ...(parts.path ?? '').split('/').slice(1),
  ]
  const login = /^(?<username>[^:]*)(?::(?<password>.*))?$/.exec(parts.login ?? '')?.groups
  const [username, password] = [percentDecoded(login?.username), percentDecoded(login?.password)]
  const parameters = parametersOf(parts.query, isSentinel ? ['timeout', 'sentinel_password'] : ['timeout'])
  const sentinelPassword = percentDecoded(parameters?.sentinel_password)
  const timeout = parameters?.timeout
  const isWrong =
    nodes.includes(undefined) ||
    nodes.length > (kind === undefined ? 1 : NODES_MAX) ||
    others.length > 0 ||
    !(isCluster ? /^0?$/ : /^\d{0,5}$/).test(database) ||
    [username, password, sentinelPassword].includes(undefined) ||
    !parameters ||
    (timeout !== undefined && !/^([1-9]|1[0-5])$/.test(timeout)) ||
    (isSentinel && !/^[\w.-]{1,100}$/.test(masterName ?? ''))
  if (isWrong) return undefined
  const known = nodes as RedisNode[]
  const shown = known.map(shownNode).join(', ')
  return {
    nodes: known,
    ...(masterName ? { masterName } : {}),
    ...(isCluster ? { isCluster } : {}),
    isTls: parts.tls !== '',
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(sentinelPassword ? { sentinelPassword } : {}),
    database: Number(database),
    ...(timeout ? { responseMs: Number(timeout) * 1000 } : {}),
    shown: masterName ? `${masterName} (Sentinels ${shown})` : isCluster ? `the cluster of ${shown}` : shown,
  }
}

/** `redis.example.com:6380`, `[::1]:6379` */
export function shownNode({ host, port }: RedisNode): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** @returns undefined for an unknown parameter, one that is listed twice, or an empty value */
function parametersOf(
  query: string | undefined,
  names: readonly string[],
): Record<string, string> | undefined {
  const pairs = query === undefined ? [] : query.split('&').map((pair) => /^([^=]*)=(.+)$/.exec(pair))
  const found = new Map(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
  return found.size === pairs.length && [...found.keys()].every((name) => names.includes(name))
    ? Object.fromEntries(found)
    : undefined
}

function nodeOf(text: string, usualPort: number): RedisNode | undefined {
  const { six, name, port } = HOST.exec(text)?.groups ?? {}
  const host = six ?? name
  const number = port ? Number(port) : usualPort
  const isAddress = six === undefined || URL.canParse(`http://[${six}]`)
  return host === undefined || !isAddress || number < 1 || number > 65_535
    ? undefined
    : { host, port: number }
}
