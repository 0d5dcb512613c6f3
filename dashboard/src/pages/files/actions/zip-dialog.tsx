import { useEffect, useRef, useState } from 'react'
import { ARCHIVE_FILES_MAX, SIDE_MAX } from '../../../../../client/generated/limits.ts'
import type { ZipEntry } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { Segmented } from '../../../ui/forms/choices.tsx'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { Select } from '../../../ui/forms/select.tsx'
import { FormDialog } from '../../../ui/overlays/dialog.tsx'
import { FILE_ACTIONS } from '../texts.ts'
import type { DialogProps } from './delete-dialog.tsx'
import { filesOf, type SelectedFile, sizeOf } from './files-of.ts'
import { type ZipNames, zipNames } from './zip-names.ts'

const FORMATS = ['same', 'jpeg', 'png', 'webp', 'avif'] as const
const EXTENSIONS = { same: undefined, jpeg: 'jpg', png: 'png', webp: 'webp', avif: 'avif' }

/** Downloads the selection as a ZIP archive, with images as they are or transformed. */
export function ZipDialog({ items, onClose }: Omit<DialogProps, 'onDone'>) {
  const { client, sluice } = useClient()
  const [archiveName, setArchiveName] = useState(firstName(items, client.name ?? client.id))
  const [names, setNames] = useState<ZipNames>('original')
  const [images, setImages] = useState<'originals' | 'transformed'>('originals')
  const [width, setWidth] = useState('1600')
  const [format, setFormat] = useState<(typeof FORMATS)[number]>('same')
  const ended = useRef<AbortController>(undefined)
  useEffect(() => () => ended.current?.abort(), [])

  async function download(): Promise<void> {
    ended.current = new AbortController()
    const { signal } = ended.current
    const files = await filesOf(sluice, items, { most: ARCHIVE_FILES_MAX, signal })
    if (files.length > ARCHIVE_FILES_MAX) throw new Error(FILE_ACTIONS.zipTooMany(ARCHIVE_FILES_MAX))
    const isChanged = ({ file }: SelectedFile) => images === 'transformed' && file.mimeType === 'image'
    const inArchive = zipNames(files, names, (one) => (isChanged(one) ? EXTENSIONS[format] : undefined))
    const entries = files.map((one, index): ZipEntry => {
      const name = inArchive[index] ?? one.file.sourceName
      if (!isChanged(one)) return { file: one.file, name }
      const parameters = {
        ...(width !== '' && { w: Number(width) }),
        ...(format !== 'same' && { f: format }),
      }
      return { file: one.file, name, parameters }
    })
    const response = await sluice.files.zip(entries, { archiveName: archiveName.trim() || 'archive', signal })
    save(await response.blob(), `${archiveName.trim().replace(/\.zip$/i, '') || 'archive'}.zip`)
  }

  const { files } = sizeOf(items)
  return (
    <FormDialog
      onClose={onClose}
      title={FILE_ACTIONS.zipTitle(COMMON.files(files))}
      action={FILE_ACTIONS.download}
      isClosable
      isDisabled={files > ARCHIVE_FILES_MAX}
      onSubmit={download}
      fieldOf={() => 'name'}
    >
      {(errorAt) => (
        <>
          <Field
            label={FILE_ACTIONS.zipName}
            error={files > ARCHIVE_FILES_MAX ? FILE_ACTIONS.zipTooMany(ARCHIVE_FILES_MAX) : errorAt('name')}
          >
            <Input
              value={archiveName}
              maxLength={100}
              onChange={(event) => setArchiveName(event.target.value)}
            />
          </Field>
          <Field label={FILE_ACTIONS.zipNames}>
            <Select
              value={names}
              onChange={setNames}
              options={(['original', 'folders', 'numbered'] as const).map((value) => ({
                value,
                ...FILE_ACTIONS.zipNamesOf[value],
              }))}
            />
          </Field>
          <div className="flex flex-col items-start gap-1.5">
            <span aria-hidden="true" className="font-medium text-sm">
              {FILE_ACTIONS.zipImages}
            </span>
            <Segmented
              label={FILE_ACTIONS.zipImages}
              value={images}
              onChange={setImages}
              options={[
                { value: 'originals', label: FILE_ACTIONS.zipOriginals },
                { value: 'transformed', label: FILE_ACTIONS.zipTransformed },
              ]}
            />
          </div>
          {images === 'transformed' && (
            <div className="grid gap-3 sm:grid-cols-2">
              <Field label={FILE_ACTIONS.zipWidth} hint={FILE_ACTIONS.pixels}>
                <Input
                  type="number"
                  min={1}
                  max={SIDE_MAX}
                  value={width}
                  onChange={(event) => setWidth(event.target.value)}
                />
              </Field>
              <Field label={FILE_ACTIONS.zipFormat}>
                <Select
                  value={format}
                  onChange={setFormat}
                  options={FORMATS.map((value) => ({ value, label: FILE_ACTIONS.zipFormats[value] }))}
                />
              </Field>
            </div>
          )}
        </>
      )}
    </FormDialog>
  )
}

function firstName(items: DialogProps['items'], client: string): string {
  const [first] = items
  return items.length === 1 && first ? first.name.replace(/\.[^.]*$/, '') : client
}

/** Hands a file to the downloads of the browser. */
function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
