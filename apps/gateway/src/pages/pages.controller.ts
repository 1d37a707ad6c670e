import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { PageFiles } from './page-files.js';

/** Serves the web apps. Their files are public: the apps get all data from the API, with a login or a token. */
@ApiExcludeController()
@AllowAccess('public')
@Controller()
export class PagesController {
  private readonly console = new PageFiles('console');
  private readonly overlay = new PageFiles('overlay');

  @Get(['console', 'console/*'])
  sendConsole(@Param('*') path: string | undefined, @Res() reply: FastifyReply): void {
    send(this.console, path, reply);
  }

  @Get(['overlay', 'overlay/*'])
  sendOverlay(@Param('*') path: string | undefined, @Res() reply: FastifyReply): void {
    // The console embeds the overlay as a preview.
    void reply.header('x-frame-options', 'SAMEORIGIN');
    send(this.overlay, path, reply);
  }
}

function send(files: PageFiles, path = '', reply: FastifyReply): void {
  const file = files.find(path);
  reply.sendFile(file.path, files.folder, file.options);
}
