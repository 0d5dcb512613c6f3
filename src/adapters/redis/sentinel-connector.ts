import type { RedisOptions } from 'ioredis'
import type { RedisNode } from '../../core/net/redis-url.ts'
import { isPrimary, RedisConnector } from './connector.ts'
import { createQueries, type ServerQueries } from './queries.ts'

/**
 * Connects to the primary that the Sentinels name. All are asked at once, and the first answer counts: ioredis asks one after the
 * other, so that dead ones delay a failover.
 *
 * @see https://redis.io/docs/latest/develop/reference/sentinel-clients/
 */
export class SentinelRedisConnector extends RedisConnector {
  #named: RedisNode | undefined
  /** What was named as the primary, and is a replica. The next time, another answer is waited for. */
  #refused: RedisNode | undefined
  #queries: ServerQueries | undefined

  /** Whether it is the right server, after it was asked for its role: a Sentinel may name an old primary for a while. */
  override check({ role }: { role?: string }): boolean {
    this.#refused = isPrimary(role) ? undefined : this.#named
    return isPrimary(role)
  }

  override disconnect(): void {
    super.disconnect()
    this.#queries?.cancel()
  }

  protected override async node(options: RedisOptions): Promise<RedisNode> {
    const { sentinels = [], name = '', sentinelPassword, sentinelTLS, sentinelCommandTimeout } = options
    const refused = this.#refused
    this.#refused = undefined
    const queries = createQueries({
      ...(sentinelPassword ? { password: sentinelPassword } : {}),
      ...(sentinelTLS ? { tls: sentinelTLS } : {}),
      connectTimeout: options.connectTimeout,
      commandTimeout: sentinelCommandTimeout,
      disconnectTimeout: options.disconnectTimeout,
    })
    this.#queries = queries
    try {
      this.#named = await Promise.any(
        sentinels.map(({ host = '', port = 0 }) =>
          queries.query({ host, port }, async (sentinel) => {
            const primary = primaryIn(await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name))
            if (primary.host !== refused?.host || primary.port !== refused.port) return primary
            throw new Error(`it names ${primary.host}:${primary.port}, which is a replica`)
          }),
        ),
      )
      return this.#named
    } catch (error) {
      const reasons = (error as AggregateError).errors.map(({ message }) => message)
      throw new Error(`no Sentinel names the primary of ${name}: ${reasons.join('; ')}`)
    } finally {
      queries.cancel()
    }
  }
}

/** The address in an answer. @throws Error for any other answer */
function primaryIn(answer: unknown): RedisNode {
  if (answer === null) throw new Error('it does not know this name')
  const [host, port = ''] = Array.isArray(answer) ? answer.map(String) : []
  if (!host || !/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
    throw new Error('its answer is not that of a Sentinel')
  return { host, port: Number(port) }
}
