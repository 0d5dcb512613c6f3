import { setTimeout as pause } from 'node:timers/promises'
import { DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { unavailable } from '../../../core/problem.ts'
import type { S3Clients } from './client.ts'

// The maximum of S3 for one request. A slow store that exceeds our time limit continues the delete by itself, so the next
// request has fewer objects to delete.
const AT_ONCE = 1000
// S3 also fails single keys temporarily: "InternalError, please try again". Ceph does
// so for a key that is being put at that moment: with eight callers that put and delete
// one key, one delete of a thousand failed three times in a row without a pause.
const ATTEMPTS = 6
// Doubled at each attempt. Each pause is a random part of it, so all pauses together take at most 0.3 s.
const PAUSE_MS = 10

/**
 * Deletes the objects with these names. A missing object is no error.
 * @returns the names that may still exist, each with its error
 */
export async function deleteNames(
  clients: S3Clients,
  { bucket, names }: { bucket: string; names: readonly string[] },
): Promise<Map<string, unknown>> {
  const failed = new Map<string, unknown>()
  const all = [...new Set(names)]
  for (let start = 0; start < all.length; start += AT_ONCE) {
    try {
      let errors = await deleteBatch(clients, bucket, all.slice(start, start + AT_ONCE))
      for (let attempt = 1; errors.size > 0 && attempt < ATTEMPTS; attempt += 1) {
        await pause(Math.random() * PAUSE_MS * 2 ** (attempt - 1))
        errors = await deleteBatch(clients, bucket, [...errors.keys()])
      }
      for (const [name, error] of errors) failed.set(name, error)
    } catch (error) {
      // Later batches would wait for the same outage.
      for (const name of all.slice(start)) failed.set(name, error)
      break
    }
  }
  return failed
}

async function deleteBatch(
  { calls, patience }: S3Clients,
  bucket: string,
  names: string[],
): Promise<Map<string, unknown>> {
  const command = new DeleteObjectsCommand({
    Bucket: bucket,
    // Quiet: the response lists only the names that failed.
    Delete: { Quiet: true, Objects: names.map((Key) => ({ Key })) },
  })
  const { Errors = [] } = await patience.responseOf((abortSignal) => calls.send(command, { abortSignal }))
  const errors = new Map<string, unknown>()
  for (const { Key = '', Code, Message } of Errors) {
    if (Code === 'NoSuchKey') continue
    const error = unavailable('The bucket failed to delete a file.', {
      cause: new Error(`${Code}: ${Message ?? 'without a message'}`),
    })
    // An error without one of our names may concern any of them.
    if (!names.includes(Key)) throw error
    errors.set(Key, error)
  }
  return errors
}
