import { type Command, InvalidArgumentError, Option } from 'commander'
import { DELIVERY_STATUSES } from '../../core/ports/events/delivery-log.ts'
import type { ShownDelivery } from '../../core/shown-delivery.ts'
import { counted } from '../../core/text/plural.ts'
import { duration } from './arguments.ts'
import { type Perform, subcommand } from './leaf-command.ts'
import { columns } from './output.ts'

const LIST_DEFAULT = 20

/** Adds the commands `webhook …`. */
export function addWebhookCommands(sluice: Command, perform: Perform): void {
  const webhook = sluice
    .command('webhook')
    .description('Test the receivers of webhooks, and list and replay deliveries.')
  subcommand(
    webhook,
    'test',
    'Send a test event to all receivers now, and print their responses. Exit code 1 when one fails.',
  ).action(({ json }) => perform('webhook test', {}, { json }))
  subcommand(webhook, 'list', 'List deliveries, the latest events first.')
    .addOption(status('only deliveries with this status'))
    .option('--since <time>', 'only events of the last time, such as 2h or 7d', duration)
    .option('--limit <count>', 'maximum number of deliveries, from 1 to 1000', count, LIST_DEFAULT)
    .action(({ status, since, limit, json }) =>
      perform('webhook list', { status, sinceMs: since, limit }, { json }),
    )
  subcommand(webhook, 'replay', 'Send a delivery, or all deliveries of a status, again.')
    .argument('[id]', 'ID of the delivery, see webhook list')
    .option('--since <time>', 'all deliveries of events of the last time, such as 2h or 7d', duration)
    .addOption(status('status of the deliveries, with --since; failed by default'))
    .action((id: string | undefined, { since, status, json }, command: Command) => {
      if ((id === undefined) === (since === undefined)) command.error('error: pass an ID or --since')
      if (id !== undefined && status !== undefined) command.error('error: --status needs --since')
      return perform('webhook replay', id === undefined ? { sinceMs: since, status } : { id }, { json })
    })
}

/** The text of each command's result. */
export const WEBHOOK_RESULTS = {
  'webhook test': ({ receivers }: ShownTests) =>
    receivers
      .map(({ receiver, delivered, status, ms, body, error }) =>
        columns([
          ['receiver', receiver.name],
          [
            'result',
            `${delivered ? 'delivered' : 'failed'}${status === undefined ? '' : `, status ${status}`}, ${ms} ms`,
          ],
          ...(error === undefined ? [] : [['reason', error]]),
          ...(body === undefined || body === '' ? [] : [['response', body.replace(/\s+/g, ' ').trim()]]),
        ]),
      )
      .join('\n'),
  'webhook list': (deliveries: ShownDelivery[]) =>
    columns([
      ['ID', 'EVENT', 'TIME', 'RECEIVER', 'STATUS', 'ATTEMPTS', 'LAST RESULT', 'NEXT ATTEMPT'],
      ...deliveries.map(({ id, event, occurredAt, receiver, status, attempts, nextAttemptAt }) => [
        id,
        event,
        occurredAt,
        receiver.name ?? receiver.id,
        status,
        String(attempts.length),
        shownAttempt(attempts.at(-1)),
        nextAttemptAt ?? '',
      ]),
    ]),
  'webhook replay': ({ replayed, skipped }: { replayed: number; skipped: number }) =>
    `${counted(replayed, 'delivery', 'deliveries')} in the queue` +
    (skipped === 0 ? '\n' : `; skipped ${skipped}, whose receiver is no longer configured\n`),
}

/** Whether a receiver has not accepted the test event. */
export function hasFailedTest(command: string, result: unknown): boolean {
  return command === 'webhook test' && (result as ShownTests).receivers.some(({ delivered }) => !delivered)
}

interface ShownTests {
  receivers: ReadonlyArray<{
    receiver: { name: string }
    delivered: boolean
    status?: number
    ms: number
    body?: string
    error?: string
  }>
}

function shownAttempt(attempt: ShownDelivery['attempts'][number] | undefined): string {
  if (attempt === undefined) return ''
  return attempt.error ?? `status ${attempt.status}`
}

function status(description: string): Option {
  return new Option('--status <status>', description).choices(DELIVERY_STATUSES)
}

function count(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 1000) return Number(text)
  throw new InvalidArgumentError(`expected a count from 1 to 1000 but received "${text}"`)
}
