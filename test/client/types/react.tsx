// Compiled by uploader/package.test.ts, and never run. Each @ts-expect-error fails when there is no error.
import { useRef } from 'react'
import { createClient } from 'sluice/client'
import { SluiceImage, SluiceUploader, type SluiceUploaderElement, useUpload } from 'sluice/react'
import { createUploadQueue } from 'sluice/uploader'

const { links } = createClient({ baseUrl: 'https://files.example', secret: 'sec' })

export function Gallery() {
  const element = useRef<SluiceUploaderElement>(null)
  const image = useRef<HTMLImageElement>(null)
  const { items, dropProps, inputProps } = useUpload({ linkUrl: '/link', accept: 'image/*' })
  return (
    <div {...dropProps}>
      <input {...inputProps} />
      {items.map(({ id, record, error }) => (
        <p key={id}>
          {error?.code}
          {record && (
            <SluiceImage src={record} alt="" width={3} parameters={{ ar: '1:1', q: 3 }} ref={image} />
          )}
        </p>
      ))}
      <SluiceUploader
        ref={element}
        link={({ folder, name }) => links.create({ expiresIn: 60, folder: `${folder}/${name}` })}
        maxSize="10MB"
        texts={{ chooseMany: 'Dateien auswählen' }}
        onUploaded={({ src }, { folder }) => console.log(src, folder)}
      />
      {/* @ts-expect-error there is no such text */}
      <SluiceUploader texts={{ chooseNone: '' }} />
      {/* @ts-expect-error an image has an alternative text */}
      <SluiceImage src="/a" />
      {/* @ts-expect-error `width` and the widths set it */}
      <SluiceImage src="/a" alt="" parameters={{ w: 3 }} />
    </div>
  )
}

const uploader = document.createElement('sluice-uploader')
uploader.link = '/link'
uploader.addEventListener('sluice-uploaded', ({ detail }) => console.log(detail.record.src))
// @ts-expect-error the state has no records
uploader.addEventListener('sluice-change', ({ detail }) => detail.records)

createUploadQueue({ link: '/link', concurrency: 2 }).add([new File([], 'a')])
// @ts-expect-error a queue needs a link
createUploadQueue({})
