import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AllowAccess } from '../access/allow-access.decorator.js';

@ApiExcludeController()
@AllowAccess('public')
@Controller()
export class RootController {
  /** Redirects to the console, for people who open the printed address in a browser. */
  @Get()
  @Redirect('/console/', 302)
  redirectToConsole(): void {
    // `@Redirect` does all the work.
  }
}
