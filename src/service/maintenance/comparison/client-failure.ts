import type { Client } from '../../../core/clients/client.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import { Problem, STORAGE_FULL, unavailable } from '../../../core/problem.ts'

/** The files of a client cannot be read: its own bucket may be unavailable, or one of its folders unreadable. */
export class ClientFailure extends Error {
  readonly clientId: string
  readonly problem: Problem
  constructor(clientId: string, problem: Problem) {
    super(problem.message, { cause: problem })
    this.clientId = clientId
    this.problem = problem
  }
}

/**
 * Runs work on the files of a client.
 * @throws ClientFailure for each error, except `signal.reason` and those of the index: they would follow for every other client, too
 */
export async function ofClient<T>(
  { id }: Client,
  { index, signal }: { index: Pick<FileIndex, 'ping'>; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted || isFull(error) || !(await isAnswering(index))) throw error
    const detail = `files of the client ${id}: ${error instanceof Error ? error.message : error}`
    const problem =
      error instanceof Problem ? error.with({ detail, cause: error }) : unavailable(detail, { cause: error })
    throw new ClientFailure(id, problem)
  }
}

/** The store that is full is the index, which all clients share: a comparison stores nothing in buckets. */
function isFull(error: unknown): boolean {
  return error instanceof Problem && error.code === STORAGE_FULL
}

function isAnswering(index: Pick<FileIndex, 'ping'>): Promise<boolean> {
  return index.ping().then(
    () => true,
    () => false,
  )
}
