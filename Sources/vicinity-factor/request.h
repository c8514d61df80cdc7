/* What vicinity-act asks: one line on a socket, with the dialogue's descriptor where there is one. */
#ifndef REQUEST_H
#define REQUEST_H

#include "authentication.h"

#include <stdbool.h>

/* False for whatever is no request of root's. */
bool receive_request(int connection, struct request *request);

#endif
