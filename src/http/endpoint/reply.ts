import type { Response } from 'express'

/** A response: JSON (by default with 200), or nothing (204). It is never cached. */
export interface Reply {
  status?: number
  json?: unknown
  headers?: Readonly<Record<string, string>>
}

export function sendReply(res: Response, { json: body, status, headers = {} }: Reply): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.status(status ?? (body === undefined ? 204 : 200))
  res.setHeader('Cache-Control', 'no-store')
  if (body === undefined) res.end()
  else res.json(body)
}
