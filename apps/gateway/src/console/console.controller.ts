import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { ConsoleFiles } from './console-files.js';

/** Serves the console. Its files are public; the page asks for a user and gets all data from the API. */
@ApiExcludeController()
@AllowAccess('public')
@Controller('console')
export class ConsoleController {
  constructor(private readonly files: ConsoleFiles) {}

  @Get(['', '*'])
  send(@Param('*') path: string | undefined, @Res() reply: FastifyReply): void {
    const file = this.files.find(path ?? '');
    reply.sendFile(file.path, this.files.folder, file.options);
  }
}
