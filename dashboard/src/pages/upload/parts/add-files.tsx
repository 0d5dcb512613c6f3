import { Camera, CloudUpload, FileUp, FolderUp, Link2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { FolderFile } from '../../../../../client/uploader/queue/item.ts'
import { UPLOAD } from '../../../texts/upload.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input, Textarea } from '../../../ui/forms/field.tsx'
import { pickFiles } from '../pick-files.ts'

/** Chooses what to upload, and where it goes. */
export function AddFiles({
  clientName,
  folder,
  setFolder,
  onFiles,
  onUrls,
}: {
  clientName: string
  folder: string
  setFolder: (folder: string) => void
  onFiles: (files: FolderFile[]) => void
  onUrls: (urls: URL[]) => void
}) {
  const [isByUrl, setByUrl] = useState(false)
  const pick = (kind: 'files' | 'folder' | 'camera') => void pickFiles(kind).then(onFiles)
  return (
    <div className="flex flex-col gap-3 p-4">
      <Field
        label={
          <>
            {UPLOAD.folder} <span className="font-normal text-muted">{UPLOAD.inClient(clientName)}</span>
          </>
        }
      >
        <Input
          value={folder}
          onChange={({ target }) => setFolder(target.value)}
          placeholder={UPLOAD.folderPlaceholder}
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
      <div className="flex flex-col items-center gap-3 rounded-lg border border-line-strong/60 border-dashed bg-surface px-3 py-6 text-center">
        <CloudUpload aria-hidden="true" className="size-7 text-faint" />
        <p className="text-muted text-sm">
          <span className="pointer-coarse:hidden">{UPLOAD.hint}</span>
          <span className="not-pointer-coarse:hidden">{UPLOAD.hintTouch}</span>
        </p>
        <div className="flex flex-wrap justify-center gap-2">
          <Button
            look="primary"
            icon={<FileUp aria-hidden="true" className="size-4" />}
            onClick={() => pick('files')}
          >
            {UPLOAD.chooseFiles}
          </Button>
          <Button
            className="not-pointer-coarse:hidden"
            icon={<Camera aria-hidden="true" className="size-4" />}
            onClick={() => pick('camera')}
          >
            {UPLOAD.camera}
          </Button>
          <Button icon={<FolderUp aria-hidden="true" className="size-4" />} onClick={() => pick('folder')}>
            {UPLOAD.chooseFolder}
          </Button>
          <Button
            icon={<Link2 aria-hidden="true" className="size-4" />}
            aria-expanded={isByUrl}
            onClick={() => setByUrl(!isByUrl)}
          >
            {UPLOAD.byUrl}
          </Button>
        </div>
      </div>
      {isByUrl && <UrlForm onUrls={onUrls} />}
    </div>
  )
}

function UrlForm({ onUrls }: { onUrls: (urls: URL[]) => void }) {
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const lines = text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    const invalid = lines.find((line) => !urlIn(line))
    if (lines.length === 0) return setError(UPLOAD.urlMissing)
    if (invalid !== undefined) return setError(UPLOAD.urlInvalid(invalid))
    onUrls(lines.flatMap((line) => urlIn(line) ?? []))
    setText('')
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2" noValidate>
      <Field label={UPLOAD.url} hint={UPLOAD.urlHint} error={error}>
        <Textarea
          value={text}
          autoFocus
          rows={2}
          placeholder="https://example.com/photo.jpg"
          onChange={({ target }) => {
            setText(target.value)
            setError(undefined)
          }}
        />
      </Field>
      <Button look="primary" type="submit" className="self-end">
        {UPLOAD.urlSubmit}
      </Button>
    </form>
  )
}

function urlIn(line: string): URL | undefined {
  const url = URL.canParse(line) ? new URL(line) : undefined
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}
