'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { createUploader } from 'sluice/client'

const uploader = createUploader({
  link: async () => (await fetch('/upload-link', { method: 'POST' })).json(),
})

export function Upload() {
  const router = useRouter()
  const [status, setStatus] = useState('Drop a photo here')

  async function upload(files: FileList) {
    try {
      for (const file of files) {
        setStatus(`Uploading ${file.name}`)
        await uploader.upload(file)
      }
      setStatus('Drop another photo here')
      router.refresh()
    } catch (error) {
      setStatus(String(error))
    }
  }

  return (
    <p
      className="drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        void upload(event.dataTransfer.files)
      }}
    >
      {status}
    </p>
  )
}
