import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/**
 * Reads a JSON file by its schema; a missing file equals an empty object.
 *
 * @throws Error with the file's name and every invalid key, one per line
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
  // For an invalid name, the reason is one level below.
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
  return path.length > 0 ? `${z.core.toDotPath(path)}: ${message}` : message
}
