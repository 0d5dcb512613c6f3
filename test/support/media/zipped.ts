import { ZipArchive } from 'archiver'

/** A ZIP with these files, in their order, uncompressed: the first one of an OpenDocument states its type. */
export async function zipped(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = new ZipArchive({ store: true })
  for (const [name, content] of Object.entries(files)) archive.append(content, { name })
  const chunks: Buffer[] = []
  const all = (async () => {
    for await (const chunk of archive) chunks.push(chunk as Buffer)
  })()
  await archive.finalize()
  await all
  return Buffer.concat(chunks)
}
