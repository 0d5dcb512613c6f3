import { JSON_BODY, OPERATOR_OR_SECRET, type ProblemName, QUERY, TO_RECEIVERS } from './problem-groups.ts'

/** The problems of endpoints about webhooks. See `ENDPOINT_PROBLEMS`. */
export const WEBHOOK_PROBLEMS: Readonly<Record<string, readonly ProblemName[]>> = {
  'POST /v1/webhooks/test': [...TO_RECEIVERS, '409 no_webhook_receiver', '429 too_many_webhook_tests'],
  'GET /v1/webhooks/receivers': [...OPERATOR_OR_SECRET, ...QUERY],
  'GET /v1/webhooks/deliveries': [...OPERATOR_OR_SECRET, ...QUERY],
  'GET /v1/webhooks/deliveries/:id': [...OPERATOR_OR_SECRET, '404 delivery_not_found'],
  'POST /v1/webhooks/deliveries/:id/replay': [
    ...TO_RECEIVERS,
    '404 delivery_not_found',
    '409 receiver_removed',
  ],
  'POST /v1/webhooks/replay': [...TO_RECEIVERS, ...JSON_BODY],
}
