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
import { tagOf } from './list.ts'
import { confirmed, transfer } from './transfer.ts'

/**
 * S3 accepts 10,000 parts: 78 GiB, to which `config/` limits files whose bytes pass through this process. An upload has at most four
 * parts in memory, 32 MiB: those in progress and those being filled.
 */
export const PART_BYTES = 8 * 1024 * 1024
const PARTS_AT_ONCE = 2
// A store joins the parts before it responds: 640 parts, 5 GiB, may take 17 s.
export const COMPLETE_MS_PER_PART = 20

/**
 * Stores all of `bytes`, or nothing. Up to the size of one part it puts one object, else it uses a multipart upload, which
 * is aborted before this rejects. The request that completes the object is never interrupted: after that it would be
 * unknown whether the object exists. Only an outage at this moment can leave this unknown.
 */
export async function upload(
  clients: S3Clients,
  { bucket, name, bytes, mediaType, signal, tagged }: UploadOptions,
): Promise<void> {
  // Aborted by the first event that ends the upload. Its reason is the error of the caller.
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
    const { ETag } = await new Upload({
      client: uploadClient(clients, end),
      params: {
        Bucket: bucket,
        Key: name,
        Body: bytes,
        ContentType: mediaType,
        // The bucket sends it without Sluice's headers, so an HTML page or an SVG could run scripts there.
        ...(isDownloadedFromBucket(mediaType) ? { ContentDisposition: 'attachment' } : {}),
      },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
      leavePartsOnError: false,
    }).done()
    const tag = tagOf(ETag)
    if (tag !== undefined) tagged?.(tag)
  } catch (error) {
    throw end.signal.aborted ? end.signal.reason : problemOf(error)
  } finally {
    signal?.removeEventListener('abort', leave)
    bytes.destroy()
  }
}

/** One object to store. `signal` aborts the upload until the request that completes it. */
export interface UploadOptions {
  bucket: string
  name: string
  bytes: Readable
  mediaType: string
  signal?: AbortSignal | undefined
  tagged?: ((tag: string) => void) | undefined
}

/**
 * The client for {@link Upload}. The `abort` of `Upload` returns at once and lets requests continue, and without `abort` it
 * waits forever for a stalled source. So `end` aborts the requests and the source instead.
 */
function uploadClient(clients: S3Clients, end: AbortController): S3Client {
  const { calls, uploads, patience } = clients
  const sendUntilEnd = (command: UploadCommand): Promise<unknown> => {
    if (command instanceof UploadPartCommand) return transfer(clients, command, end.signal)
    if (command instanceof PutObjectCommand) return transfer(clients, command)
    if (command instanceof CompleteMultipartUploadCommand) {
      const parts = command.input.MultipartUpload?.Parts?.length ?? 0
      const sent = patience.responseOf((abortSignal) => calls.send(command, { abortSignal }), {
        withinMs: patience.silenceMs + parts * COMPLETE_MS_PER_PART,
      })
      return sent.then(confirmed)
    }
    // Creates the multipart upload. It is not aborted: without the response, the upload ID would be unknown.
    return patience.responseOf((abortSignal) => calls.send(command, { abortSignal }), {
      withinMs: patience.silenceMs,
    })
  }

  const send = async (command: UploadCommand | AbortMultipartUploadCommand) => {
    if (command instanceof AbortMultipartUploadCommand) {
      // The sweep removes uploads that an outage leaves behind.
      return patience.responseOf((abortSignal) => calls.send(command, { abortSignal })).catch(() => {})
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
