import { type Request, type Response, Router } from 'express'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { checkEverywhere } from '../../core/clients/grant.ts'
import type { Action } from '../../core/clients/secret-scope.ts'
import { positionOf } from '../../core/ports/events/delivery-log.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import {
  type ReceiverView,
  shownDelivery,
  shownDeliveryWithPayload,
  shownError,
} from '../../core/shown-delivery.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { ReceiverTest } from '../../service/events/test-receivers.ts'
import type { Webhooks } from '../../service/events/webhooks.ts'
import { jsonBody } from '../body/json.ts'
import { checkedBody } from '../body/parse.ts'
import { callerBySecret } from '../caller/caller.ts'
import { checkOperator } from '../caller/operator.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, clientGone, queryPairs } from '../request.ts'
import { stateOf } from '../request-state.ts'
import type { WebhookDeliveryList, WebhookReceiverList, WebhookTest } from '../wire/webhooks.ts'
import { checkedClient, cursorAt, readDeliveriesQuery, webhookReplay } from './request.ts'

interface Dependencies {
  clients: Clients
  adminSessions: AdminSessions
  webhooks: Webhooks
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

/** The sender of a request: the operator, without a client, or a client, whose own events alone are accessible. */
interface WebhookCaller {
  client: Client | undefined
  clientId: string | undefined
  view: ReceiverView
}

const BODY_MAX_BYTES = 1024

/** `/v1/webhooks`: tests of receivers, deliveries and replays, for a signed-in operator and for the secret of a client. */
export function webhookRoutes({
  clients,
  adminSessions,
  webhooks,
  limits,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })

  /** @throws Problem 401, 403 */
  function callerOf(req: Request, action: Action): WebhookCaller {
    if (isOfOperator(req)) {
      checkOperator(req, adminSessions)
      return { client: undefined, clientId: undefined, view: 'all' }
    }
    const grant = callerBySecret(req, clients, action)
    checkEverywhere(grant)
    // Receivers belong to the operator, whose own client is the first one. Their names, and the texts of their responses, may
    // reveal to other clients what is in the network of the operator.
    const { client } = grant
    const clientId = client.id
    return { client, clientId, view: clientId === FIRST_CLIENT_ID ? 'all' : 'outcome' }
  }

  /** Each request that sends something to receivers. @throws Problem 401, 403, 429 */
  async function senderOf(req: Request, res: Response): Promise<WebhookCaller> {
    const caller = callerOf(req, 'manage')
    const { client } = caller
    await consumeRateLimit(req, res, { limits, limited: 'webhook', ...(client ? { client } : {}) })
    return caller
  }

  routes.use('/v1/webhooks', (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store')
    next()
  })
  routes.post('/v1/webhooks/test', async (req, res) => {
    const { clientId, view } = await senderOf(req, res)
    const { eventId, receivers } = await webhooks.test({ clientId, signal: clientGone(res) })
    const result: WebhookTest = { eventId, receivers: receivers.map((one) => shownTest(one, view)) }
    res.json(result)
  })
  routes.all('/v1/webhooks/test', methodNotAllowed('POST'))

  routes.get('/v1/webhooks/receivers', (req, res) => {
    const { view } = callerOf(req, 'read')
    checkNames(queryPairs(req), [])
    const list: WebhookReceiverList = {
      receivers: webhooks.receivers().map(({ id, name, events }) => ({
        id,
        ...(view === 'all' ? { name } : {}),
        events: [...events],
      })),
    }
    res.json(list)
  })
  routes.all('/v1/webhooks/receivers', methodNotAllowed('GET', 'HEAD'))

  routes.get('/v1/webhooks/deliveries', async (req, res) => {
    const { clientId, view } = callerOf(req, 'read')
    const { client, ...query } = readDeliveriesQuery(queryPairs(req))
    const selected = { ...query, ...checkedClient(clientId, client) }
    // One more than requested, to know whether there is a next page.
    const found = await webhooks.list({ ...selected, limit: query.limit + 1 })
    const page = found.slice(0, query.limit)
    const last = page.at(-1)
    const list: WebhookDeliveryList = {
      deliveries: page.map((one) => shownDelivery(one, view)),
      cursor: last && found.length > page.length ? cursorAt(positionOf(last)) : null,
    }
    res.json(list)
  })
  routes.all('/v1/webhooks/deliveries', methodNotAllowed('GET', 'HEAD'))

  routes.get('/v1/webhooks/deliveries/:id', async (req, res) => {
    const { view, clientId } = callerOf(req, 'read')
    res.json(shownDeliveryWithPayload(await webhooks.find(req.params.id, { clientId }), view))
  })
  routes.all('/v1/webhooks/deliveries/:id', methodNotAllowed('GET', 'HEAD'))

  routes.post('/v1/webhooks/deliveries/:id/replay', async (req, res) => {
    const { view, clientId } = await senderOf(req, res)
    const replayed = await webhooks.replay(req.params.id, { clientId })
    res.status(202).json(shownDelivery(replayed, view))
  })
  routes.all('/v1/webhooks/deliveries/:id/replay', methodNotAllowed('POST'))

  routes.post('/v1/webhooks/replay', async (req, res) => {
    const { clientId } = await senderOf(req, res)
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
    const { since, status = 'failed', event, receiver, client } = checkedBody(webhookReplay, body)
    const of = checkedClient(clientId, client)
    const filter = { ...of, status, event, receiverId: receiver, since: Date.parse(since) }
    res.status(202).json(await webhooks.replayAll(filter, clientGone(res)))
  })
  routes.all('/v1/webhooks/replay', methodNotAllowed('POST'))
  return routes
}

function shownTest({ receiver, body, error, ...outcome }: ReceiverTest, view: ReceiverView) {
  return {
    receiver: view === 'all' ? receiver : { id: receiver.id },
    ...outcome,
    ...(view === 'all' && body !== undefined ? { body } : {}),
    ...(error === undefined ? {} : { error: shownError(error, outcome.status, view) }),
  }
}

/** Whether a request is for all clients: with the token of the operator, or of the console without a client. */
function isOfOperator(req: Request): boolean {
  if (stateOf(req).console) return req.get('Sluice-Client') === undefined
  return /^Bearer +adm_/i.test(req.headers.authorization ?? '')
}
