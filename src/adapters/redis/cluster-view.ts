import { setTimeout as pause } from 'node:timers/promises'
import type { RedisNode } from '../../core/net/redis-url.ts'
import { type AskOptions, createAsking } from './ask.ts'

/** Slots that a primary of a Redis Cluster has, both inclusive. There are 16,384. */
export interface SlotRange {
  first: number
  last: number
  primary: RedisNode
  replicas: readonly RedisNode[]
}

/** What the nodes of a Redis Cluster say about who has which slots. */
export interface ClusterView {
  /** All slots that are served, asked for now, or within the last {@link FRESH_MS}. @throws Error when no node responds */
  ranges(): Promise<readonly SlotRange[]>
  /** The primary that has this slot. @throws Error when no node responds, or no node has it */
  ownerOf(slot: number): Promise<RedisNode>
}

// Many connections begin at the same time, and need one answer.
const FRESH_MS = 100
// After the first answer, the others have this time: a node that was cut off from the others names old primaries.
const OTHERS_MS = 200

/** @param nodes some nodes of the cluster; later, the nodes that these have named are asked too */
export function clusterView(nodes: readonly RedisNode[], options: AskOptions): ClusterView {
  let known = nodes
  let asked: { at: number; answer: Promise<readonly SlotRange[]> } | undefined

  async function ask(): Promise<readonly SlotRange[]> {
    const asking = createAsking(options)
    try {
      const answers: Answer[] = []
      const questions = known.map(async (node) => {
        const answer = await asking.ask(node, async (client) => {
          const [info, slots] = await Promise.all([client.cluster('INFO'), client.cluster('SLOTS')])
          return { epoch: epochIn(String(info)), ranges: rangesIn(slots, node) }
        })
        answers.push(answer)
      })
      await Promise.any(questions).catch(({ errors }: AggregateError) => {
        throw new Error(`no node of the cluster responds: ${errors.map(({ message }) => message).join('; ')}`)
      })
      await Promise.race([Promise.allSettled(questions), pause(OTHERS_MS)])
      const { ranges } = answers.reduce((newest, one) => (one.epoch > newest.epoch ? one : newest))
      known = unique([...ranges.flatMap(({ primary, replicas }) => [primary, ...replicas]), ...nodes])
      return ranges
    } finally {
      asking.leave()
    }
  }

  async function ranges(): Promise<readonly SlotRange[]> {
    const now = performance.now()
    if (!asked || now - asked.at > FRESH_MS) asked = { at: Number.POSITIVE_INFINITY, answer: ask() }
    const current = asked
    try {
      return await current.answer
    } finally {
      // Fresh from its end on; while it is in progress, it serves all.
      if (current.at === Number.POSITIVE_INFINITY) current.at = performance.now()
    }
  }

  return {
    ranges,
    async ownerOf(slot) {
      const range = (await ranges()).find(({ first, last }) => first <= slot && slot <= last)
      if (!range) throw new Error(`no node of the cluster has slot ${slot}`)
      return range.primary
    },
  }
}

interface Answer {
  /** Increases with each failover and each change of slots. */
  epoch: number
  ranges: readonly SlotRange[]
}

function epochIn(info: string): number {
  return Number(/^cluster_current_epoch:(\d+)/m.exec(info)?.[1] ?? 0)
}

/**
 * Parses the response to CLUSTER SLOTS. @param asked a node without a name is the one that was asked
 * @throws Error for any other response
 *
 * @see https://redis.io/docs/latest/commands/cluster-slots/
 */
function rangesIn(response: unknown, asked: RedisNode): SlotRange[] {
  const nodeIn = (item: unknown): RedisNode => {
    const [host, port] = item as [host: string | null, port: number]
    return { host: host || asked.host, port }
  }
  return (response as unknown[][]).map(([first, last, primary, ...replicas]) => ({
    first: Number(first),
    last: Number(last),
    primary: nodeIn(primary),
    replicas: replicas.map(nodeIn),
  }))
}

function unique(nodes: readonly RedisNode[]): RedisNode[] {
  return [...new Map(nodes.map((node) => [`${node.host} ${node.port}`, node])).values()]
}
