/** Texts of the webhooks page. */
export const WEBHOOKS = {
  title: 'Webhooks',
  description:
    'Events that this installation has sent to its receivers. WEBHOOK_URL configures the receivers.',
  list: 'Deliveries',
  test: 'Send test event',
  replayFailed: 'Replay failed',
  replayFailedTitle: 'Replay all failed deliveries?',
  replayFailedText: (since: string) =>
    `All failed deliveries of ${since} are sent again, with the same event IDs.`,
  replayed: (count: number) =>
    count === 1 ? '1 delivery is sent again' : `${count} deliveries are sent again`,
  skipped: (count: number) => `${count} skipped: their receiver is no longer configured.`,
  replay: 'Replay',
  status: 'Status',
  statuses: { all: 'All', pending: 'Pending', delivered: 'Delivered', failed: 'Failed' } as Readonly<
    Record<string, string>
  >,
  since: 'Period',
  periods: {
    '3600': 'the last hour',
    '86400': 'the last day',
    '604800': 'the last 7 days',
    '7776000': 'the last 90 days',
  },
  event: 'Event',
  receiver: 'Receiver',
  attempts: 'Attempts',
  time: 'Time',
  emptyTitle: 'No deliveries',
  emptyText: 'Deliveries appear here when an event is sent to a receiver. Without receivers there are none.',
  more: 'Load more',
  nextAttempt: (at: string) => `Next attempt ${at}`,
  eventId: 'Event ID',
  copyId: 'Copy event ID',
  request: 'Request',
  responses: 'Responses',
  noAttempts: 'No attempt yet.',
  noResponse: 'No response',
  ms: (ms: number) => `${ms} ms`,
  testTitle: 'Test event',
  testText: 'The response of each receiver to a test event.',
  done: 'Done',
  delivered: 'Delivered',
  failed: 'Failed',
}
