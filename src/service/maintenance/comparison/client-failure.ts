import type { Client } from '../../../core/clients/client.ts'
import { Problem } from '../../../core/problem.ts'

/** The files of a client cannot be read: its own bucket may be unavailable. */
export class ClientFailure extends Error {
  readonly clientId: string
  readonly problem: Problem
  constructor(clientId: string, problem: Problem) {
    super(problem.message, { cause: problem })
    this.clientId = clientId
    this.problem = problem
  }
}

/** Names the client in a problem. @throws ClientFailure */
export async function ofClient<T>({ id }: Client, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const detail = `files of the client ${id}: ${error.message}`
    throw new ClientFailure(id, error.with({ detail, cause: error }))
  }
}
