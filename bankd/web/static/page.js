// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Waits while bankd does not answer: then a link is followed, and a form is sent, as soon as it does. Without this
// script the browser shows its own page of the error. It changes nothing else.
(() => {
  'use strict';
  const probe = document.querySelector('link[rel=icon]').href;
  let waits = false;
  let sent = null;

  const answers = () =>
    fetch(probe, { method: 'HEAD', cache: 'no-store' }).then(answer => answer.status < 502, () => false);

  function message() {
    const text = 'bankd does not answer. This page continues as soon as it does; your entries stay here.';
    const box = document.createElement('div');
    box.className = 'message bad away';
    box.setAttribute('role', 'alert');
    box.append(document.createElement('p'));
    box.firstChild.textContent = text;
    document.querySelector('main').prepend(box);
    return box;
  }

  async function when(go) {
    if (waits) return;
    waits = true;
    let shown = null;
    while (!(await answers())) {
      shown ??= message();
      await new Promise(next => setTimeout(next, 1000));
    }
    shown?.remove();
    waits = false;
    go();
  }

  addEventListener('click', event => {
    const link = event.target.closest('a[href]');
    const isOther = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!link || isOther || event.defaultPrevented || link.target || link.origin !== location.origin) return;
    if (link.getAttribute('href').startsWith('#')) return;
    event.preventDefault();
    when(() => location.assign(link.href));
  });

  addEventListener('submit', event => {
    const form = event.target;
    if (sent === form) {
      sent = null;
      return;
    }
    event.preventDefault();
    when(() => {
      sent = form;
      form.requestSubmit(event.submitter);
    });
  });
})();
