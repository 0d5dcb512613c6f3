import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { AuditLog } from '../../core/ports/audit-log.ts'
import { stateOf } from '../request-state.ts'
import { auditedBy } from './audited-by.ts'

/**
 * Adds an entry to the audit log for each successful change by a person: changes of clients by the operator or an owner, and
 * changes of files by members. Requests with the secret of a client are left out: programs send these, and the log of requests has
 * them.
 */
export function auditActions({ audit }: { audit: AuditLog }): RequestHandler {
  return (req, res, next) => {
    if ((req.method === 'GET' && !req.path.startsWith('/v1/sign/')) || req.method === 'HEAD') return next()
    const state = stateOf(req)
    // After the end of the connection, the request has no IP address any more.
    const person = auditedBy(req)
    let isAdded = false
    state.addAuditEntry = () => {
      const action = actionOf(req)
      // No file of a batch was changed.
      if (isAdded || action === undefined || state.audited?.details?.files === 0) return
      isAdded = true
      const { target, details } = { target: targetOf(req), ...state.audited }
      const client = clientOf(req)
      audit.add({
        member: person.member,
        address: person.address,
        action,
        ...(client === undefined ? {} : { client }),
        ...(target === undefined ? {} : { target }),
        ...(details === undefined ? {} : { details }),
      })
    }
    // Not `finish`: when the client has disconnected, it is not emitted, although the change was made.
    const { end } = res
    res.end = ((...args: Parameters<typeof end>) => {
      if (res.statusCode < 400) state.addAuditEntry?.()
      return end.apply(res, args)
    }) as typeof end
    next()
  }
}

/**
 * Adds an entry for a change that was interrupted because its client has disconnected: none, a part or all of it was made. It leaves
 * the error to others.
 */
export const auditInterrupted: ErrorRequestHandler = (error, req, _res, next) => {
  const state = stateOf(req)
  const isInterrupted = error instanceof Error && error.name === 'AbortError'
  const action = actionOf(req)
  // Before the end of the body, nothing was changed. Stored files have an entry already.
  if (isInterrupted && req.complete && action !== undefined && action !== 'file.upload') {
    state.audited = { ...state.audited, details: { outcome: 'interrupted' } }
    state.addAuditEntry?.()
  }
  next(error)
}

/** What the request does; undefined for a request that is not audited. */
function actionOf(req: Request): string | undefined {
  const { endpoint, console: own, audited } = stateOf(req)
  if (endpoint?.isOfOperator) return endpoint.audit
  return own?.session ? (audited?.action ?? endpoint?.audit) : undefined
}

/** The client whose data was changed. A new client is not in the path. */
function clientOf(req: Request): string | undefined {
  const { clientId, audited, endpoint } = stateOf(req)
  return endpoint?.isOfOperator ? (paramsOf(req).id ?? audited?.target) : clientId
}

/** What the path names: the most specific part of it. */
function targetOf(req: Request): string | undefined {
  const { path, secretId, version, name, id } = paramsOf(req)
  return path ?? secretId ?? version ?? name ?? id
}

/** The parameters of the route. Express has removed them from the request after an error. */
function paramsOf(req: Request): Readonly<Record<string, string>> {
  const pattern = String(req.route?.path)
    .replace('*path', '(?<path>.+)')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
  const { groups = {} } = new RegExp(`^${pattern}$`).exec(req.path) ?? {}
  return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]))
}
