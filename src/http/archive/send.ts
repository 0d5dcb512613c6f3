import { once } from 'node:events'
import type { Request, Response } from 'express'
import type { Archive } from '../../service/archive/archive.ts'
import type { ArchiveFiles } from '../../service/archive/sources.ts'
import { attachment } from '../delivery/content-disposition.ts'
import type { Readers } from '../readers/readers.ts'
import { type PieceOptions, sendPieces } from '../readers/send-pieces.ts'

/** Sends an archive while it is created. */
export async function sendArchive(
  req: Request,
  res: Response,
  { files, archive, readers }: { files: ArchiveFiles; archive: Archive; readers: Readers },
): Promise<void> {
  setArchiveHeaders(res, files)
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  const { signal } = files
  const open = async ({ newPiece }: PieceOptions) => {
    const body = archive({ ...files, newPiece })
    // It may fail between the two waits. Without a listener, the error would end the process.
    body.on('error', () => {})
    // Until the first byte is sent, a failure can still get its own status.
    await once(body, 'readable')
    return body
  }
  await sendPieces(res, open, { readers, signal })
}

/** Sets the headers of an archive that is sent by `POST /v1/zip`. */
export function setArchiveHeaders(res: Response, { archiveName }: Pick<ArchiveFiles, 'archiveName'>): void {
  res.setHeader('Content-Disposition', attachment(archiveName))
  res.setHeader('Content-Type', 'application/zip')
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('X-Content-Type-Options', 'nosniff')
}
