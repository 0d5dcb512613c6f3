import type { Request, Response } from 'express'
import { type BucketRedirect, redirectToBucket } from './bucket-redirect.ts'
import { type FrontServer, frontLocation, isForFront } from './front-server.ts'
import { isPlainFile, mayBeElsewhere, type SentFile } from './sent-file.ts'

/**
 * Has another server send the bytes of a response, when all its headers are set and its conditions are evaluated.
 *
 * @returns false when this service has to send them itself
 */
export type SendElsewhere = (req: Request, res: Response, file: SentFile) => Promise<boolean>

/** Who sends the bytes of stored files, if not this service. */
export interface ElsewhereOptions {
  /** Sends files of the disk. */
  front?: FrontServer | undefined
  /** The bucket sends objects of at least this size. */
  redirect?: BucketRedirect | undefined
}

/** Undefined when this service sends all bytes itself. */
export function createSendElsewhere({ front, redirect }: ElsewhereOptions): SendElsewhere | undefined {
  if (!front && !redirect) return undefined
  return async (req, res, file) => {
    if (!mayBeElsewhere(req, file)) return false
    if (redirect?.applies(file.asset)) return redirectToBucket(req, res, file)
    const location = front && frontLocation(front, req, file)
    if (!location) return false
    file.beforeChange?.()
    // The front server sends the status of a range, and these headers, itself. It reuses the connection after an empty body.
    res.status(200)
    for (const name of ['Accept-Ranges', 'Content-Range']) res.removeHeader(name)
    res.setHeader('Content-Length', 0)
    res.setHeader(...location)
    res.end()
    return true
  }
}

/**
 * Who sends a file to most of its callers. `bucket`: the response cannot be repeated, since its URL expires. `front`: memory for
 * its bytes would be wasted.
 */
export function usualSender({
  front,
  redirect,
}: ElsewhereOptions): (file: Pick<SentFile, 'asset' | 'encoding'>) => 'service' | 'front' | 'bucket' {
  if (!front && !redirect) return () => 'service'
  return (file) => {
    if (!isPlainFile(file)) return 'service'
    if (redirect?.applies(file.asset)) return 'bucket'
    return front && isForFront(front, file.asset) ? 'front' : 'service'
  }
}
