import { finished, type Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { isDownloadedFromBucket } from '../../../core/media/formats.ts'
import type { S3Clients } from './client.ts'
import { problemOf } from './errors.ts'
import { SILENCE_MS } from './patience.ts'
import { confirmed, transfer } from './transfer.ts'

/**
 * S3 takes 10,000 parts: 78 GiB, more than which `config/` refuses. An upload holds the parts under way and those being
 * cut: at most four, 32 MiB.
 */
export const PART_BYTES = 8 * 1024 * 1024
const PARTS_AT_ONCE = 2
// A store puts the parts together before it answers: 640 of them, 5 GiB, may take 17 s.
const COMPLETE_MS_PER_PART = 20

/**
 * Stores all that `bytes` gives, or nothing: as one object up to a part, else as a multipart upload, which is aborted
 * before this rejects. What completes an object is never interrupted, since nobody could tell then whether it is there;
 * only an outage in this moment can leave that open.
 */
export async function upload(
  clients: S3Clients,
  { bucket, name, bytes, mediaType, signal }: UploadOptions,
): Promise<void> {
  // Aborted by whatever ends the upload first; its reason is what the caller gets to know.
  const end = new AbortController()
  const leave = () => end.abort(signal?.reason)
  end.signal.addEventListener('abort', () => bytes.destroy(end.signal.reason))
  finished(bytes, { writable: false }, (error) => {
    if (error) end.abort(error)
  })
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  try {
    end.signal.throwIfAborted()
    await new Upload({
      client: uploadClient(clients, end),
      params: {
        Bucket: bucket,
        Key: name,
        Body: bytes,
        ContentType: mediaType,
        // At its address in the bucket, without the headers of Sluice, an HTML page or an SVG could run scripts.
        ...(isDownloadedFromBucket(mediaType) ? { ContentDisposition: 'attachment' } : {}),
      },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
      leavePartsOnError: false,
    }).done()
  } catch (error) {
    throw end.signal.aborted ? end.signal.reason : problemOf(error)
  } finally {
    signal?.removeEventListener('abort', leave)
    bytes.destroy()
  }
}

export interface UploadOptions {
  bucket: string
  name: string
  bytes: Readable
  mediaType: string
  signal?: AbortSignal | undefined
}

/**
 * What {@link Upload} takes for its client. Its own `abort` returns at once and lets requests run on, and without one it
 * waits for a silent source for ever: so it is ended through what it sends and what it reads.
 */
function uploadClient(clients: S3Clients, end: AbortController): S3Client {
  const { calls, uploads, patience } = clients
  const sendUntilEnd = (command: UploadCommand): Promise<unknown> => {
    if (command instanceof UploadPartCommand) return transfer(clients, command, end.signal)
    if (command instanceof PutObjectCommand) return transfer(clients, command)
    if (command instanceof CompleteMultipartUploadCommand) {
      const parts = command.input.MultipartUpload?.Parts?.length ?? 0
      const sent = patience.answered((abortSignal) => calls.send(command, { abortSignal }), {
        withinMs: SILENCE_MS + parts * COMPLETE_MS_PER_PART,
      })
      return sent.then(confirmed)
    }
    // Without its answer nobody would know what to abort.
    return patience.answered((abortSignal) => calls.send(command, { abortSignal }), { withinMs: SILENCE_MS })
  }

  const send = async (command: UploadCommand | AbortMultipartUploadCommand) => {
    if (command instanceof AbortMultipartUploadCommand) {
      // What an outage leaves is for the sweep.
      return patience.answered((abortSignal) => calls.send(command, { abortSignal })).catch(() => {})
    }
    try {
      end.signal.throwIfAborted()
      return await sendUntilEnd(command)
    } catch (error) {
      end.abort(problemOf(error))
      throw error
    }
  }
  return { config: uploads.config, send } as unknown as S3Client
}

type UploadCommand =
  | PutObjectCommand
  | CreateMultipartUploadCommand
  | UploadPartCommand
  | CompleteMultipartUploadCommand
