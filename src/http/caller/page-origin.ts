import type { Request, RequestHandler, Response } from 'express'
import { stateOf } from '../request-state.ts'
import { hasSignedCookie } from './signed-cookie.ts'

/**
 * Notes the origin of the page that sends a request, if it is one of these: its scripts may send signed cookies.
 *
 * @param origins as browsers send them
 */
export function noteOrigin(origins: readonly string[]): RequestHandler {
  const listed = new Set(origins)
  return (req, _res, next) => {
    const { origin } = req.headers
    if (origin !== undefined && listed.has(origin)) stateOf(req).listedOrigin = origin
    next()
  }
}

/** Permits pages of any origin to read the response; a page of a listed origin also with cookies, if the request has a signed one. */
export function permitRead(req: Request, res: Response): void {
  // Browsers send no cookies with OPTIONS.
  const isCredentialed = req.method === 'OPTIONS' || hasSignedCookie(req)
  if (!isCredentialed || !permitCredentials(req, res)) res.setHeader('Access-Control-Allow-Origin', '*')
}

/**
 * Permits the page of a listed origin to read the response to a request with cookies. The response is for this page alone, see
 * `stateOf(req).isCredentialed`.
 *
 * @returns false for other pages
 */
export function permitCredentials(req: Request, res: Response): boolean {
  const state = stateOf(req)
  if (state.listedOrigin === undefined) return false
  state.isCredentialed = true
  res.setHeader('Access-Control-Allow-Origin', state.listedOrigin)
  res.setHeader('Access-Control-Allow-Credentials', 'true')
  res.vary('Origin')
  return true
}
