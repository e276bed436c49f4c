echo ${{ steps.loop.stdout }}
