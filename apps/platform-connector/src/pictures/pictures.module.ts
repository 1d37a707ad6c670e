import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { PictureDownloads } from './picture-downloads.service.js';
import { PictureLookUps } from './picture-look-ups.service.js';
import { PicturesController } from './pictures.controller.js';
import { PicturesRepository } from './pictures.repository.js';
import { Pictures } from './pictures.service.js';

/** Serves the pictures of the platform's users and categories. All instances share the cache. */
@Module({
  imports: [PlatformModule],
  controllers: [PicturesController],
  providers: [PictureDownloads, PictureLookUps, Pictures, PicturesRepository],
})
export class PicturesModule {}
