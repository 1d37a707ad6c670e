import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AllowAccess } from '../access/allow-access.decorator.js';

@ApiExcludeController()
@AllowAccess('public')
@Controller()
export class RootController {
  /** Redirects people who open the gateway's address in a browser to the console. */
  @Get()
  @Redirect('/console/', 302)
  redirectToConsole(): void {
    // `@Redirect` does all the work.
  }
}
