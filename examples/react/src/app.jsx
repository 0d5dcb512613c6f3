import { useState } from 'react'
import { SluiceImage, SluiceUploader } from 'sluice/react'
import { AvatarUpload } from './avatar-upload.jsx'

/** An uploader with its own look, a gallery, and a small uploader built with the hook. */
export function App() {
  const [records, setRecords] = useState([])
  const images = records.filter(({ mimeType }) => mimeType === 'image')
  return (
    <main>
      <h1>Upload to Sluice</h1>
      <SluiceUploader
        linkUrl="/upload-link"
        accept="image/*,video/*,.pdf"
        maxSize="100MB"
        multiple
        folder
        camera
        onUploaded={(record) => setRecords((all) => [...all, record])}
      />
      <div className="gallery">
        {images.map((record) => (
          <SluiceImage
            key={record.src}
            src={record}
            alt={record.originalName}
            width={220}
            height={160}
            parameters={{ ar: '11:8' }}
          />
        ))}
      </div>
      <h2>With the hook</h2>
      <AvatarUpload />
    </main>
  )
}
