import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AllowAccess } from '../access/allow-access.decorator.js';

@ApiExcludeController()
@AllowAccess('public')
@Controller()
export class RootController {
  /** Shows the console to people who open the printed address in a browser. */
  @Get()
  @Redirect('/console/', 302)
  redirectToConsole(): void {
    // The decorator redirects.
  }
}
