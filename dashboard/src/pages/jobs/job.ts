import type { ListedJob } from '../../../../client/index.ts'

/** The last part of the key of the original: the name under which people know the file. */
export function nameOfFile({ file }: Pick<ListedJob, 'file'>): string {
  return file.slice(file.lastIndexOf('/') + 1)
}

/** The parameters of the transformation, as in its URL: `f=webm w=640`. Undefined when it has none. */
export function optionsOf(job: Pick<ListedJob, 'file' | 'url'>): string | undefined {
  const derivative = decodeURIComponent(new URL(job.url).pathname)
  const [, options = ''] = derivative.split(`${nameOfFile(job)}_`)
  return options.replaceAll('&', ' ') || undefined
}
