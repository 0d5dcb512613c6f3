import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/**
 * Reads a JSON file by its schema; a missing one is an empty object.
 *
 * @throws Error with the file's name and every key that is wrong, a line each
 */
export async function readJsonFile<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  try {
    return schema.parse(JSON.parse(await textOf(file)))
  } catch (cause) {
    const reasons = cause instanceof z.ZodError ? cause.issues.map(explained) : [(cause as Error).message]
    throw new Error(reasons.map((reason) => `${file}: ${reason}`).join('\n'), { cause })
  }
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
}

function explained(issue: z.core.$ZodIssue): string {
  const { path } = issue
  // Of a name, what is wrong with it is a level below.
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
  return path.length > 0 ? `${z.core.toDotPath(path)}: ${message}` : message
}
